/** The header of a log: checks that this program can take the log over, and edits that keep the rest of the line unchanged. */
import { SessionError } from "../format/errors.ts"
import type { SessionErrorDetails } from "../format/errors.ts"
import { unknownVersion } from "../format/identify.ts"
import type { LogIdentity } from "../format/identify.ts"
import { withFields, withValueAt } from "../format/json-edit.ts"
import { parseLine } from "../format/line.ts"
import type { LogRecord } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/header.ts"
import { isObject } from "../format/shape.ts"

/** Throws `not_a_session` or `newer_version`; `subject` begins the message. */
export function checkIdentity(
  identity: LogIdentity,
  subject: string,
  about: SessionErrorDetails = {},
): asserts identity is LogIdentity & { readonly kind: "sessions" | "older" } {
  switch (identity.kind) {
    case "sessions":
    case "older":
      return
    case "newer": {
      const message = `${subject} ${unknownVersion(identity.version)}. Use a newer program.`
      throw new SessionError("newer_version", message, about)
    }
    case "empty":
      throw new SessionError("not_a_session", `${subject} is empty; there is no session in it.`, about)
    case "foreign":
      throw new SessionError("not_a_session", `${subject} is not a session: ${identity.reason}.`, about)
  }
}

/** The header of the same log under another id. */
export function withId(line: string, id: string): string {
  const record = parseLine(line).record as LogRecord
  return record["id"] === id ? line : withFields(line, { id })
}

/** Sets the expected number of lines, or keeps a larger one. `id`: the id of the source, for a header without an origin. */
export function withOriginLines(line: string, lines: number, id: string): string {
  const { origin } = parseLine(line).record as LogRecord
  if (!isObject(origin)) return withFields(line, { origin: { format: FORMAT, version: VERSION, id, lines } })
  const before = typeof origin["lines"] === "number" ? origin["lines"] : 0
  return withValueAt(line, ["origin", "lines"], Math.max(before, lines))
}
