from fullspan.learn.contrastive.ascent import form_of as form_of
from fullspan.learn.contrastive.pseudo import PseudoLikelihood as PseudoLikelihood
from fullspan.learn.contrastive.sparse_pairs import SparsePairs as SparsePairs
