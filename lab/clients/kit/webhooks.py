"""The Python library of Standard Webhooks: which of $DELIVERIES it takes for signed.

A list of {"secret", "headers", "body"}, the headers named in any case and the body a text. Prints a list of as many: null for each that is
taken, and for each other what the library said.
"""

import json
import os

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def complaint(delivery):
    try:
        Webhook(delivery["secret"]).verify(delivery["body"], delivery["headers"], json_parse=False)
    except WebhookVerificationError as error:
        return str(error)


print(json.dumps([complaint(delivery) for delivery in json.loads(os.environ["DELIVERIES"])]))
