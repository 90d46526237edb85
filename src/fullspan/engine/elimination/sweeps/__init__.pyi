from fullspan.engine.elimination.sweeps.boxes import Boxes as Boxes
