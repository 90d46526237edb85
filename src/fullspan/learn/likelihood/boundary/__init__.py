"""Where the maximum of a likelihood lies at infinity, and along which states."""
