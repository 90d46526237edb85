"""Pictures of models: what is drawn, apart from how. Each is drawn as SVG, by Matplotlib or by Altair."""
