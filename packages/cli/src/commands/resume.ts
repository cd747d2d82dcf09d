import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { absoluteFolder } from "../store/resolve.ts"

export const resume: Command = defineCommand({
  name: "resume",
  summary: "print the id of the session to resume in a folder",
  args: ["ID?"],
  options: {
    pointer: { type: "string", value: "NAME", help: "name that refers to a session, for example one per terminal" },
    cwd: { type: "string", value: "PATH", help: "the folder (default: the current one)" },
  },
  notes: [
    "Prints the session of the pointer if it still exists and was set for this folder, otherwise the newest session of the folder that has no kind.",
    "Creates a session if there is none. With an ID, sets the pointer to that session.",
  ],
  examples: ["resume", "resume --pointer tty1", "resume @last --pointer tty1"],
  createsStore: ([id]) => id === undefined,
  async run({ sessions, resolveSession, args: [ref], values, io }) {
    const { pointer } = values
    const cwd = absoluteFolder(values.cwd ?? ".", io.cwd)
    if (ref !== undefined) {
      if (pointer === undefined) throw new UsageError("resume ID sets a pointer; add --pointer NAME.")
      const id = await resolveSession(ref)
      await sessions.pointers.set(pointer, { session: id, cwd })
      return { json: { id, cwd, pointer }, text: () => [id] }
    }
    const session = await sessions.continueRecent({ cwd, ...(pointer === undefined ? {} : { pointer }) })
    const { id } = session
    await session.close()
    return { json: { id, cwd, ...(pointer === undefined ? {} : { pointer }) }, text: () => [id] }
  },
})
