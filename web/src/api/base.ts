/** What comes before every path of the workspace that is shown: nothing for the host's own, `/w/acme` for another. */
export const BASE = /^\/w\/[^/]+/.exec(globalThis.location?.pathname ?? '')?.[0] ?? '';
