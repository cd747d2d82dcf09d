import { hasCode } from "@sessions/core"
import { continueRecent, setPointer } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { CommandError, UsageError } from "../errors.ts"
import { absoluteFolder } from "../store/resolve.ts"

export const resume: Command = defineCommand({
  name: "resume",
  summary: "print the id of the session to resume in a folder",
  args: ["ID?"],
  options: {
    pointer: { type: "string", value: "NAME", help: "name that refers to a session, for example one per terminal" },
    cwd: { type: "string", value: "PATH", help: "the folder (default: the current one)" },
    create: { type: "boolean", help: "create a session if the folder has none" },
  },
  notes: [
    "Prints the session of the pointer if it still exists and was set for this folder, otherwise the newest session of the folder that has no kind.",
    "Fails if there is none, unless --create is given. With an ID, sets the pointer to that session.",
  ],
  examples: ["resume", "resume --create --pointer tty1", "resume @last --pointer tty1"],
  createsStore: ([id], { create }) => id === undefined && create === true,
  async run({ sessions, resolveSession, args: [ref], values, io }) {
    const { pointer, create = false } = values
    const cwd = absoluteFolder(values.cwd ?? ".", io.cwd)
    if (ref !== undefined) {
      if (create) throw new UsageError("resume ID creates nothing; leave out --create.")
      if (pointer === undefined) throw new UsageError("resume ID sets a pointer; add --pointer NAME.")
      const id = await resolveSession(ref)
      await setPointer(sessions, pointer, { session: id, cwd })
      return { json: { id, cwd, pointer }, text: () => [id] }
    }
    const session = await continueRecent(sessions, {
      cwd,
      create,
      ...(pointer === undefined ? {} : { pointer }),
    }).catch((error: unknown) => {
      if (!hasCode(error, "not_found")) throw error
      throw new CommandError(
        `${error.message} "sessions resume --create" creates one in ${sessions.storage.description}.`,
      )
    })
    const { id } = session
    await session.close()
    return { json: { id, cwd, ...(pointer === undefined ? {} : { pointer }) }, text: () => [id] }
  },
})
