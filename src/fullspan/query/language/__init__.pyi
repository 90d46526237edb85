from fullspan.query.language.result import Count as Count
