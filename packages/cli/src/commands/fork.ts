import { type Command, defineCommand } from "../command.ts"
import { newId } from "../store/resolve.ts"
import { forkSession } from "@sessions/core/transfer"

export const fork: Command = defineCommand({
  name: "fork",
  summary: "copy the path to an entry into a new session and print its id",
  args: ["ID"],
  options: {
    at: {
      type: "string",
      value: "ENTRY",
      help: "id of the last entry to copy, as tree shows it (default: the leaf)",
    },
    id: { type: "string", value: "ID", help: "id of the new session (default: generated)" },
  },
  notes: ["Copies the whole history of the entry, including messages that a compaction has summarized."],
  examples: ["fork @last", "fork 01JGN3 --at 01JGN4A8X0V1S2E9QH5T6B7C3D"],
  async run({ sessions, resolveSession, args: [ref = ""], values, progress }) {
    const from = await resolveSession(ref)
    progress.update(() => `copying the path of ${from}`)
    const forked = await forkSession(sessions, from, {
      ...newId(values.id),
      ...(values.at === undefined ? {} : { at: values.at }),
    })
    const { id } = forked
    await forked.close()
    return { json: { id, from }, text: () => [id] }
  },
})
