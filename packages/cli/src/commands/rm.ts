import type { Sessions } from "@sessions/core"
import { type Command, defineCommand } from "../command.ts"
import { confirmed } from "../confirm.ts"
import { CommandError } from "../errors.ts"
import type { Io } from "../io.ts"
import { formatCount, formatSize } from "../output/format.ts"
import { preview } from "../output/messages.ts"
import { sanitizeLine } from "../output/sanitize.ts"

export const rm: Command = defineCommand({
  name: "rm",
  summary: "delete a session, or hide one of its entries",
  args: ["ID"],
  options: {
    entry: { type: "string", value: "ENTRY", help: "hide this entry instead; the log keeps it" },
    yes: { type: "boolean", help: "do not ask on a terminal" },
  },
  notes: [
    "A deleted session is removed with all its data and cannot be restored. On a terminal the command asks before it deletes one.",
  ],
  examples: ["rm 01JGN3V6Z4W3A5T1C8Y2K7M9QX", "rm @last --yes", "rm @last --entry 01JGN4A8X0V1S2E9QH5T6B7C3D"],
  async run({ sessions, resolveSession, args: [ref = ""], values: { entry, yes }, json, io }) {
    const id = await resolveSession(ref)
    if (entry === undefined) {
      if (yes !== true && !json && io.stdout.isTerminal) await askFor(sessions, id, io)
      const { parts, bytes, purged } = await sessions.delete(id)
      const deleted = `deleted ${id} (${formatSize(parts, bytes)})`
      const left = "Some of its bytes could not be removed; the next command on this storage tries again."
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
