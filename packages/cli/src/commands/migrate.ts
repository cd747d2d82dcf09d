import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"

export const migrate: Command = defineCommand({
  name: "migrate",
  summary: "rewrite a log of an older version as version 4, with a backup",
  args: ["ID"],
  options: {},
  notes: ["Reading an older log needs no migration, and the first write makes it. The backup: export --backup."],
  examples: ["migrate @last", "export @last --backup --out before.jsonl"],
  async run({ sessions, session: resolve, args: [ref = ""] }) {
    const id = await resolve(ref)
    const { migrated, from } = await sessions.migrate(id)
    const source = `${from.format} version ${from.version}`
    return {
      json: { id, migrated, from },
      text: () => [migrated ? `migrated ${id} from ${source}` : `${id} is current (${source}); nothing to do`],
    }
  },
})
