"""Layered machines: block Gibbs chains, mean field, log Z by enumeration and by annealing, on any device."""
