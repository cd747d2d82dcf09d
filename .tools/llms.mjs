// Writes the texts for coding agents from the pages of docs/: llms.txt, a list of the pages; llms-full.txt, the pages for users in
// full; and the skill in @sessions/core, which has the rules of its AGENTS.md. `--check` fails if one of them is stale.
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pagesOf, USERS } from "./lib/pages.mjs"
import { root } from "./lib/workspace.mjs"

const read = (path) => readFileSync(join(root, path), "utf8")
const titleOf = (text) => /^# (.*)$/m.exec(text)?.[1] ?? ""
/** The first sentence of the first paragraph below the title. */
const aboutOf = (text) => {
  const paragraph = text.split(/\n\n+/).find((one, index) => index > 0 && /^[\p{L}`[]/u.test(one)) ?? ""
  const plain = paragraph.replaceAll("\n", " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
  return /^.*?\.(?= |$)/.exec(plain)?.[0] ?? plain
}

const agents = read("packages/core/AGENTS.md")
const rules = agents.slice(agents.indexOf("## The whole of it"))
const skill = read("packages/core/skills/sessions/SKILL.md")

const link = (path) => {
  const text = read(path)
  return `- [${titleOf(text)}](${path}): ${aboutOf(text)}`
}
const files = {
  "llms.txt": `# @sessions

> The session log for AI agents: an append-only log of an agent's conversation on any storage, for Node, Bun, Deno and browsers.

## Rules for code that uses it

- [For coding agents](packages/core/AGENTS.md): the whole API in use, the rules, which package, the way out of each error.

## Use it

${pagesOf("Use it")
  .map((name) => link(`docs/${name}.md`))
  .join("\n")}

## How it works

${pagesOf("How it works")
  .map((name) => link(`docs/${name}.md`))
  .join("\n")}
`,
  "llms-full.txt": `${[agents, ...USERS.map((name) => read(`docs/${name}.md`))].map((text) => text.trim()).join("\n\n---\n\n")}\n`,
  "packages/core/skills/sessions/SKILL.md": `${skill.slice(0, skill.indexOf("## The whole of it"))}${rules}`,
}

for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes("--check")) writeFileSync(join(root, path), text)
  else if (!globSync(path, { cwd: root }).length || read(path) !== text) {
    console.error(`${path} is stale: run \`pnpm docs:llms\`.`)
    process.exitCode = 1
  }
}
