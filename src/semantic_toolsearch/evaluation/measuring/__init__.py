"""Answers in; measures, slices and what differs beyond chance out."""
