// The npm library of Standard Webhooks: which of $DELIVERIES it takes for signed; see webhooks.py.
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const complaint = ({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
};
console.log(JSON.stringify(JSON.parse(process.env.DELIVERIES).map(complaint)));
