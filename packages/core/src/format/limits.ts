/** Every number of the format, in one place. MB is 1,000,000 bytes. `docs/format.md`, "Size", says where each is used. */

/** Strings longer than this many UTF-16 units move to the blob store. */
export const BLOB_TEXT_UNITS = 500_000

/** Images whose base64 has this many characters or more move to the blob store. */
export const BLOB_IMAGE_CHARS = 1_024

/** A full session still accepts compactions, leaves, branch summaries, edits and annotations, up to this many bytes more. */
export const FULL_SESSION_SLACK_BYTES = 1_000_000

export const MAX_ATTACHMENTS = 10

/** A session takes no metadata with which it would have more keys, or more UTF-8 bytes of JSON. Logs may have more, and are read. */
export const MAX_METADATA_KEYS = 500
export const MAX_METADATA_BYTES = 1_000_000

/** `SessionInfo.firstPrompt` is cut at this many UTF-16 units. */
export const FIRST_PROMPT_UNITS = 200

/** Length of a string that was truncated as oversize, notice included. */
export const TRUNCATED_TEXT_UNITS = 500_000
export const TRUNCATION_NOTICE = "[Session persistence truncated large content]"
