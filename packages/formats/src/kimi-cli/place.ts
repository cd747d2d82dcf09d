/** What the context of a Kimi CLI session does not say itself: its id and its folder are in the path, its times and its title in files beside it. */

/**
 * The name of the file beside a context with what its path says: JSON with the `id` of the session, of a subagent also that of its `parent`,
 * and, if it is known, its `cwd`. The folder of a session is `sessions/<MD5 of the path>/<id>`, and `kimi.json` has the paths.
 */
export const KIMI_SESSION = "kimi-session"

/** The events of the session as its screen got them, with times. */
export const WIRE = "wire.jsonl"

/** The title that the user gave the session, among its settings. */
export const STATE = "state.json"
