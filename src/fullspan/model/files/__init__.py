"""The file formats: model files, networks of other tools, and how a file from a stranger is opened."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "atomic": "write_atomically",
        "envelope": "checksum",
        "networks.bif": "read_bif",
        "networks.evidence": "read_evidence",
        "networks.formats": "factors_of read_factors",
        "networks.uai": "MAX_CARD read_uai write_uai",
        "opening": "read_bytes",
        "spaces": "read_space",
    },
)
