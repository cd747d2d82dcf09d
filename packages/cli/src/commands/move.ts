import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { folder } from "../store/resolve.ts"

export const move: Command = defineCommand({
  name: "move",
  summary: "say that a session belongs to another folder now",
  args: ["ID", "PATH"],
  options: {},
  notes: ["What is stored stays where it is; list --cwd and resume go by the new folder."],
  examples: ["move @last .", "move 01JGN3 ~/projects/parser"],
  async run({ sessions, session: resolve, args: [ref = "", path = ""], io }) {
    const id = await resolve(ref)
    const cwd = folder(path, io.cwd)
    await sessions.move(id, { cwd })
    return { json: { id, cwd }, text: () => [`${id} belongs to ${cwd} now`] }
  },
})
