import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { folder } from "../store/resolve.ts"

export const resume: Command = defineCommand({
  name: "resume",
  summary: "print the id of the session to go on with in this folder",
  args: ["ID?"],
  options: {
    pointer: { type: "string", value: "NAME", help: "a name that stands for a session, e.g. the terminal's" },
    cwd: { type: "string", value: "PATH", help: "the folder (default: the current one)" },
  },
  notes: [
    "The pointer's session if it was set for this folder and is still there, else the folder's newest, else a new one.",
    "With an ID: makes the pointer stand for that session.",
  ],
  examples: ["resume", "resume --pointer tty1", "resume @last --pointer tty1"],
  async run({ sessions, session: resolve, args: [ref], values, io }) {
    const { pointer } = values
    const cwd = folder(values.cwd ?? ".", io.cwd)
    if (ref !== undefined) {
      if (pointer === undefined) throw new UsageError("resume with an ID sets a pointer and needs --pointer NAME.")
      const id = await resolve(ref)
      await sessions.pointers.set(pointer, { session: id, cwd })
      return { json: { id, cwd, pointer }, text: () => [id] }
    }
    const session = await sessions.continueRecent({ cwd, ...(pointer === undefined ? {} : { pointer }) })
    const { id } = session
    await session.close()
    return { json: { id, cwd, ...(pointer === undefined ? {} : { pointer }) }, text: () => [id] }
  },
})
