"""What a fitted model found, as people read it: interactions, terms, summaries, limits, pictures."""

from fullspan.lazy import Seam

__getattr__ = Seam(
    __name__,
    {
        "endings": "ENDINGS ended_early ending ending_words",
        "limits": "likelihood_line limit_line",
        "links": "links_by_interactions",
        "pictures": "interaction_graph weights",
        "summary": "coefficients",
        "terms": "SHOWN TermRow TermTable",
    },
)
