import { type Command, defineCommand } from "../command.ts"
import { formatSize } from "../output/format.ts"

export const rm: Command = defineCommand({
  name: "rm",
  summary: "delete a session, or hide one of its entries",
  args: ["ID"],
  options: {
    entry: { type: "string", value: "ENTRY", help: "hide this entry instead; the log keeps it" },
  },
  notes: ["A deleted session is removed with all its data and cannot be restored."],
  examples: ["rm 01JGN3V6Z4W3A5T1C8Y2K7M9QX", "rm @last --entry 01JGN4A8X0V1S2E9QH5T6B7C3D"],
  async run({ sessions, resolveSession, args: [ref = ""], values: { entry } }) {
    const id = await resolveSession(ref)
    if (entry === undefined) {
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
