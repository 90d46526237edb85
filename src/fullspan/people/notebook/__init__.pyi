from fullspan.people.notebook.opening import explore as explore
