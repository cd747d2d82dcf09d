import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { newId } from "../store/resolve.ts"

export const fork: Command = defineCommand({
  name: "fork",
  summary: "make a new session of the path to an entry, and print its id",
  args: ["ID"],
  options: {
    at: {
      type: "string",
      value: "ENTRY",
      help: "the entry's id, as tree shows it (default: where the session stands)",
    },
    id: { type: "string", value: "ID", help: "the new session's id (default: a new one)" },
  },
  notes: ["The whole history up to the entry comes along, also what a compaction has summarized."],
  examples: ["fork @last", "fork 01JGN3 --at 01JGN4A8X0V1S2E9QH5T6B7C3D"],
  async run({ sessions, session: resolve, args: [ref = ""], values }) {
    const from = await resolve(ref)
    const made = await sessions.fork(from, {
      ...newId(values.id),
      ...(values.at === undefined ? {} : { at: values.at }),
    })
    const { id } = made
    await made.close()
    return { json: { id, from }, text: () => [id] }
  },
})
