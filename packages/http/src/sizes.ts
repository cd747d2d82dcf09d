/** Every number that a request is checked against. `.tools/limits.mjs` writes them into docs/options.md. */

/** Defaults of options, in bytes. */
export const BODY_BYTES = 100_000
export const DOCUMENT_BYTES = 16_000_000
export const BLOB_BYTES = 50_000_000

/** Titles, paths and other single values, in UTF-16 units. */
export const TEXT_UNITS = 4_096

/** Seconds that a request for events may wait. */
export const WAIT_SECONDS = 60

/** Prompts of a session that have not ended. */
export const MAX_PROMPTS = 20
