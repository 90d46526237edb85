def test_another_order_of_the_variables_is_the_same_distribution() -> None:
    rng, cards, parents = np.random.default_rng(0), (2, 3, 2, 4), np.array([1, -1, 1, 0])
    logits = rng.normal(size=(2, TreeLayout(cards, parents).n_logits))
    trees = LatentTrees(Space.of_cards(cards), parents, np.array([0.3, 0.7]), logits)
    states, order = np.stack([rng.integers(0, card, 20) for card in cards], axis=1), [2, 0, 3, 1]
    assert trees.reordered(order).log_weight(states[:, order]) == pytest.approx(trees.log_weight(states), abs=1e-12)
