import type { Sessions } from "@sessions/core"
import { deleteWithBlobs } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { confirmed } from "../confirm.ts"
import { CommandError, UsageError } from "../errors.ts"
import type { Io } from "../io.ts"
import { choiceOption } from "../option-values.ts"
import { formatCount, formatSize } from "../output/format.ts"
import { preview } from "../output/messages.ts"
import { sanitizeLine } from "../output/sanitize.ts"

const BLOBS = ["now", "gc"] as const

export const rm: Command = defineCommand({
  name: "rm",
  summary: "delete a session, or hide one of its entries",
  args: ["ID"],
  options: {
    entry: { type: "string", value: "ENTRY", help: "hide this entry instead; the log keeps it" },
    blobs: { type: "string", value: "WHEN", choices: BLOBS, help: "now: also its long texts and images; default: gc" },
    yes: { type: "boolean", help: "do not ask" },
  },
  notes: [
    "A deleted session cannot be restored. The command asks first; without a terminal --yes is needed.",
    "Long texts and images are blobs, which sessions share. gc removes those that no session mentions after a day; --blobs now reads all",
    "sessions and removes those of this one at once. Blobs of the last two hours stay, because another writer may be about to mention them.",
  ],
  examples: [
    "rm 01JGN3V6Z4W3A5T1C8Y2K7M9QX",
    "rm @last --yes",
    "rm @last --entry 01JGN4A8X0V1S2E9QH5T6B7C3D",
    "rm @last --blobs now",
  ],
  async run({ sessions, resolveSession, args: [ref = ""], values, json, io, callOptions }) {
    const { entry, yes } = values
    const withBlobs = choiceOption("blobs", values.blobs, BLOBS, "gc") === "now"
    if (entry !== undefined && values.blobs !== undefined)
      throw new UsageError("--entry hides an entry, and its blobs stay: leave --blobs out.")
    if (entry === undefined && yes !== true && (json || !io.stdout.isTerminal))
      throw new UsageError("rm asks before it deletes a session: add --yes.")
    const id = await resolveSession(ref)
    if (entry === undefined) {
      if (yes !== true) await askFor(sessions, id, io)
      const { parts, bytes, purged } = withBlobs
        ? await deleteWithBlobs(sessions, id, callOptions)
        : await sessions.delete(id, callOptions)
      const deleted = `deleted ${id} (${formatSize(parts, bytes)})`
      const left = withBlobs
        ? "Some of its bytes are stored still: gc --older-than 2h removes them when two hours have passed."
        : "Some of its bytes could not be removed; the next command on this storage tries again."
      return { json: { id, parts, bytes, purged }, text: () => (purged ? [deleted] : [deleted, left]) }
    }
    const session = await sessions.open(id)
    try {
      await session.tombstone(entry)
    } finally {
      await session.close()
    }
    return { json: { id, entryId: entry }, text: () => [`hid entry ${entry} of ${id}`] }
  },
})

async function askFor(sessions: Sessions, id: string, io: Io): Promise<void> {
  // A log that cannot be opened can be deleted all the same.
  const info = await sessions.info(id).catch(() => undefined)
  const title = info?.title ?? info?.firstPrompt
  const named = title === undefined ? id : `${id}, ${JSON.stringify(preview(title, TITLE_UNITS))}`
  const messages = info === undefined ? "" : ` with ${formatCount(info.messageCount, "message")}`
  if (!(await confirmed(io, `Delete ${sanitizeLine(named)}${messages}?`)))
    throw new CommandError("nothing was deleted.")
}

const TITLE_UNITS = 60
