"""The information geometry of log-linear models: dual coordinates, projections, and what each order explains.

    theta  natural parameters            eta = d psi / d theta     expectations
    psi    log Z                         phi = theta . eta - psi   minus the entropy

>>> import fullspan as fs
>>> machine = fs.BoltzmannMachine().fit([[0, 0], [0, 1], [1, 1], [1, 1], [0, 0], [1, 0]])
>>> point = fs.geometry.Manifold.of(machine).at(machine.model_.theta)
>>> point.eta.round(3).tolist()
[0.5, 0.5, 0.333]

Sugiyama, Tsuda and Nakahara, sample space truncation on Boltzmann machines, appendix A; Amari 2001, 2016.
"""

from fullspan.query.geometry.bias_variance import BiasVariance, bias_variance
from fullspan.query.geometry.hierarchy import Hierarchy, explained
from fullspan.query.geometry.learning_curve import LearningCurve, learning_curve
from fullspan.query.geometry.manifold import Manifold, Point, divergence
from fullspan.query.geometry.projection import Pythagoras, e_projection, from_mixed, m_projection, mixed, pythagoras

__all__ = [
    "BiasVariance",
    "Hierarchy",
    "LearningCurve",
    "Manifold",
    "Point",
    "Pythagoras",
    "bias_variance",
    "divergence",
    "e_projection",
    "explained",
    "from_mixed",
    "learning_curve",
    "m_projection",
    "mixed",
    "pythagoras",
]
