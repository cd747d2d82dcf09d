/** The limit of a test, and of waiting for a condition in one. It only ends a hang: a busy machine needs many times what an idle one does. */
export const HANG_MS = 10 * 60_000
