from fullspan.learn.trees.chow_liu import fit_chow_liu as fit_chow_liu
from fullspan.learn.trees.chow_liu import spanning_tree as spanning_tree
from fullspan.learn.trees.hidden_tree import TreeOptions as TreeOptions
from fullspan.learn.trees.hidden_tree import fit_hidden_tree as fit_hidden_tree
from fullspan.learn.trees.pairs import mutual_information as mutual_information
from fullspan.learn.trees.pairs import pair_counts as pair_counts
