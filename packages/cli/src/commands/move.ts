import { type Command, defineCommand } from "../command.ts"
import { absoluteFolder } from "../store/resolve.ts"

export const move: Command = defineCommand({
  name: "move",
  summary: "change the folder that a session belongs to",
  args: ["ID", "PATH"],
  options: {},
  notes: ["The stored files stay in place; list --cwd and resume use the new folder."],
  examples: ["move @last .", "move 01JGN3 ~/projects/parser"],
  async run({ sessions, resolveSession, args: [ref = "", path = ""], io }) {
    const id = await resolveSession(ref)
    const cwd = absoluteFolder(path, io.cwd)
    await sessions.move(id, { cwd })
    return { json: { id, cwd }, text: () => [`${id} now belongs to ${cwd}`] }
  },
})
