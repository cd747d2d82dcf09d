/** Writes a session in the format of another agent, and says what the file does not hold. */
import type { Session } from "@sessions/core"
import type { Format, Loss, WriteOptions } from "@sessions/formats"
import { CommandError } from "../errors.ts"
import { type Line, styled } from "../output/lines.ts"

export function writtenText(format: Format, session: Session, o: WriteOptions): AsyncIterable<string> {
  if (format.write === undefined)
    throw new CommandError(`sessions can be read from ${format.title}, but not written for it.`)
  return format.write({ header: session.header, entries: () => session.entries() }, o)
}

export function lossLines(losses: readonly Loss[]): Line[] {
  return losses.map(({ what, message }) => ["  ", styled("yellow", what), `  ${message}`])
}
