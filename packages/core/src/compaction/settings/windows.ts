/** The table of models: context windows in tokens, by prefix of the model's name. */
import { SessionError } from "../../format/errors.ts"

/** Keys are prefixes of model names; the longest matching prefix wins. */
export type WindowTable = Readonly<Record<string, number>>

/** As the providers document them. */
export const WINDOWS: WindowTable = {
  claude: 200_000,
  "gpt-4o": 128_000,
  "gpt-4-turbo": 128_000,
  "gemini-2.0-flash": 1_000_000,
}

/** The window of models without a row. */
export const DEFAULT_WINDOW = 200_000

/** The window of a model in tokens; {@link DEFAULT_WINDOW} if no row matches. For equal prefixes the caller's row wins. */
export function windowOf(model: string | undefined, rows: WindowTable = {}): number {
  let longest = -1
  let window = DEFAULT_WINDOW
  for (const [prefix, tokens] of [...Object.entries(rows), ...Object.entries(WINDOWS)]) {
    if (model?.startsWith(prefix) !== true || prefix.length <= longest) continue
    longest = prefix.length
    window = tokens
  }
  return window
}

/** Throws `invalid`. */
export function checkWindows(rows: WindowTable): void {
  for (const [prefix, tokens] of Object.entries(rows)) {
    if (Number.isFinite(tokens) && tokens > 0) continue
    const message = `windows[${JSON.stringify(prefix)}] must be a number of tokens above 0, not ${String(tokens)}.`
    throw new SessionError("invalid", message)
  }
}
