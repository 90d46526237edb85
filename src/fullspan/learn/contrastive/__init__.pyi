from fullspan.learn.contrastive.pseudo import PseudoLikelihood as PseudoLikelihood
from fullspan.learn.contrastive.sparse_pairs import SparsePairs as SparsePairs
