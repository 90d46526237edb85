from fullspan.model.effects.interaction import Effect as Effect
from fullspan.model.effects.interaction import Interaction as Interaction
from fullspan.model.effects.interaction import by_nats as by_nats
from fullspan.model.effects.words import describe as describe
from fullspan.model.effects.words import event_words as event_words
from fullspan.model.effects.words import label as label
