from fullspan.learn.many.fit import fit_groups as fit_groups
