from fullspan.people.report.content import gather as gather
