"""What a written page holds, read without a browser."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page holds: its tags, its text, its ids, and every address it could fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.addresses, self.text = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                self.addresses.append(value)
            assert not name.startswith("on")

    def handle_data(self, data):
        self.text.append(data)


def packed_tables(text):
    """The tables and findings that a page carries."""
    packed = re.search(r'id="page-tables">([^<]+)<', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def packed_walks(text):
    """The header of what a page computes with."""
    packed = re.search(r'id="walks">([^<]+)<', text)[1]
    raw = gzip.decompress(base64.b64decode(packed))
    return json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
