import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { formatBytes, formatCount, formatNumber } from "../output/format.ts"

export const copy: Command = defineCommand({
  name: "copy",
  summary: "put a session into another store, under the same id",
  args: ["ID"],
  options: { to: { type: "string", value: "URL", help: "the other store" } },
  notes: ["What was cut off goes on when the same command runs again."],
  examples: ["copy @last --to file:/mnt/backup/sessions", "copy 01JGN3 --to ../other/.sessions --json"],
  async run({ sessions, session: resolve, openStore, args: [ref = ""], values: { to }, call, progress }) {
    if (to === undefined) throw new UsageError("copy needs --to URL, the store to copy into.")
    const target = openStore(to)
    try {
      const id = await resolve(ref)
      const result = await sessions.copy(id, target, {
        ...call,
        onProgress: ({ lines, bytes }) =>
          progress.update(() => `copying: ${formatNumber(lines)} lines, ${formatBytes(bytes)}`),
      })
      return {
        json: { ...result, to: target.description },
        text: () => [`copied ${id} to ${target.description} (${formatCount(result.lines, "line")})`],
      }
    } finally {
      await target[Symbol.asyncDispose]()
    }
  },
})
