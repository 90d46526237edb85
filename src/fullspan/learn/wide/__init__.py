"""Search for hundreds of variables: decomposable models of bounded width, their terms, and mixtures of them."""
