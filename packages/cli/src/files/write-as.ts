/** Writes a session in the format of another agent, and says what the file does not hold. */
import type { Session } from "@sessions/core"
import type { Loss, WriteOptions, Writer } from "@sessions/formats"
import { type Line, styled } from "../output/lines.ts"

export function writtenText(format: Writer, session: Session, o: WriteOptions): AsyncIterable<string> {
  return format.write({ header: session.header, entries: () => session.entries() }, o)
}

export function lossLines(losses: readonly Loss[]): Line[] {
  return losses.map(({ what, message }) => ["  ", styled("yellow", what), `  ${message}`])
}
