"""A seed comes in; short asides go out, which people put into a request and which no tool is about.

Names, dates, passwords and thanks fill half of a real request. A mean over words must learn to pass over them.
"""

from __future__ import annotations

import random

__all__ = ["asides"]

_PATTERNS = """\
My username is {name} and my password is {word}{day}.
username {name}, password {word}{day}
my name is {name} {family}
The id is {number}.
my user id is {number}
on {month} {day}
at {hour} pm
at {hour}:30 am tomorrow
on {weekday} at {hour} o'clock
by the end of {month}
for {name}
for {name} {family} in {city}
in {city}
near {city}
it's for {name}, {name}@example.com
send it to {name}@example.com
Can you help me with this?
Hey, could you please do that for me? Thanks!
Thanks a lot.
I need it by {weekday}.
from {month} {day} to {month} {day}
between {hour} and {hour} on {weekday}
The reference number is {number}.
with number {number}
it is called "{word}"
Yes, that's correct.
Yes please.
I'm not sure about it, {name} told me.
this {weekday}
next week
around ${number}
no more than {day} of them
for {day} people
my email is {name}.{family}@example.org
the address is {day} {family} Street, {city}
born on {month} {day}, 19{day}
last {month}
it was in {month} 2022""".splitlines()

_WORDS = {
    "name": "anna john maria li omar priya tom sarah david elena carlos yuki emma james olivia fatima nina lucas",
    "family": "smith jones miller garcia chen patel kim brown novak rossi lopez khan davis meyer taylor wilson",
    "city": "paris london berlin tokyo mumbai madrid chicago toronto sydney boston lagos seoul vienna dublin",
    "month": "January February March April May June July August September October November December",
    "weekday": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "word": "sunshine project falcon blue alpha tiger summer river rocket garden coffee shadow",
}


def asides(count: int, *, seed: int) -> list[str]:
    """Draw ``count`` asides; the same seed gives the same."""
    chance = random.Random(seed)
    words = {slot: listed.split() for slot, listed in _WORDS.items()}
    made = []
    for _ in range(count):
        values = {slot: chance.choice(listed) for slot, listed in words.items()}
        numbers = {
            "day": chance.randint(1, 30),
            "hour": chance.randint(1, 11),
            "number": chance.randint(10, 10**6),
        }
        made.append(chance.choice(_PATTERNS).format(**values, **numbers))
    return made
