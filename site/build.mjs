// Builds the site into site/dist: copies docs/ to site/pages, with links to files outside of docs/ turned into their paths, makes the API
// reference, and runs vitepress, which fails at a dead link. A link to a file that does not exist fails before that. `--pages`: makes and checks
// the pages only.
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { entries } from "./entries.mjs"

const here = fileURLToPath(new URL(".", import.meta.url))
const root = join(here, "..")
const pages = join(here, "pages")
const problems = []

rmSync(pages, { recursive: true, force: true })
mkdirSync(join(pages, "packages"), { recursive: true })
mkdirSync(join(pages, "public"), { recursive: true })

const docs = globSync("docs/*.md", { cwd: root })
const readmes = globSync("{packages/*,examples/*,conformance,benchmarks}/README.md", { cwd: root })
/** The page of the site for a file of the repository. */
const pageOf = new Map([
  ...docs.map((path) => [path, `/${basename(path, ".md")}`]),
  ...readmes.map((path) => [path, `/packages/${nameOf(path)}`]),
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map((path) => [
    path,
    `/project/${basename(path, ".md").toLowerCase()}`,
  ]),
])
for (const [path, page] of pageOf) {
  const to = join(pages, `${page}.md`)
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, forSite(path, readFileSync(join(root, path), "utf8")))
}
cpSync(join(root, "benchmarks", "plots"), join(pages, "public", "plots"), { recursive: true })
cpSync(join(root, "docs", "concepts.svg"), join(pages, "public", "concepts.svg"))
cpSync(join(here, "pictures"), join(pages, "public", "pictures"), { recursive: true })
// What README.md begins with: the installation, a program, its output, and what one gets.
const [, beginning = ""] =
  /^(```sh\n[^]*?)^## Beside others$/m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? []
writeFileSync(
  join(pages, "index.md"),
  `---
layout: home
hero:
  name: "@sessions"
  text: The session log for AI agents
  tagline: Survives crashes, moves between Node, Bun, Deno and the browser, opens fast at any length, and hides no writer's turn.
  actions:
    - { theme: brand, text: Getting started, link: /getting-started }
    - { theme: alt, text: Comparison, link: /comparison }
---

${forSite("README.md", beginning.replace("\n## What you get", `\n${pictures()}\n## What you get`))}
`,
)
const { default: config } = await import("./.vitepress/config.mjs")
const linksOf = ({ link, items = [] }) => [link, ...items.flatMap(linksOf)]
const linked = new Set(config.themeConfig.sidebar.flatMap(linksOf))
for (const path of docs)
  if (!linked.has(pageOf.get(path))) problems.push(`${path}: not in the sidebar of site/.vitepress/config.mjs`)
if (problems.length > 0) {
  console.error(problems.join("\n"))
  process.exit(1)
}
if (process.argv.includes("--pages")) process.exit()
const tool = (name, ...args) =>
  execFileSync(join(here, "node_modules", ".bin", name), args, { cwd: here, stdio: "inherit" })
const files = entries.map(({ file }) => file)
writeFileSync(join(pages, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.json", files }))
tool("typedoc", "--options", "typedoc.mjs")
for (const path of globSync("api/**/*.md", { cwd: pages })) {
  const file = join(pages, path)
  writeFileSync(
    file,
    outsideCode(withPackageNames(readFileSync(file, "utf8")), (text) =>
      text.replaceAll(/<(?=[A-Za-z/])/g, "&lt;").replaceAll("{{", "{&#123;"),
    ),
  )
}
tool("vitepress", "build")

/** The running inspector and the running example: `node --conditions=@sessions/source site/pictures.mjs` takes them. */
function pictures() {
  const picture = (name, alt) =>
    `<img src="/pictures/${name}.jpg" width="1100" height="700" alt="${alt}" style="flex:1 1 20rem;min-width:0;height:auto">`
  return `<div style="display:flex;flex-wrap:wrap;gap:1rem;margin:1.5rem 0">
${picture("inspector", "The inspector: a conversation with its tool calls, and tabs for the tree, the context, usage, compactions and diagnostics")}
${picture("browser", "The example in a browser: a chat with tool calls, its branches, and how full the context window is")}
</div>
`
}

/** typedoc names a module by its path. */
function withPackageNames(text) {
  return text.replaceAll(/(^# |\[)([\w-]+(?:\/[\w-]+)*)(?=$|\])/gm, (whole, before, path) => {
    const entry = entries.find(({ module }) => module === path)
    return entry === undefined ? whole : before + entry.name
  })
}

function nameOf(path) {
  return path.startsWith("examples/") ? `example-${basename(dirname(path))}` : basename(dirname(path))
}

/** The text with its links as those of the site. What is neither a page nor a plot is named without a link. */
function forSite(path, text) {
  const linked = outsideBlocks(text, (part) =>
    part.replaceAll(/\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/g, (whole, label, target) => {
      if (/^(?:https?:|mailto:|#)/.test(target)) return whole
      const [file, anchor] = target.split("#")
      const wanted = relative(root, join(root, dirname(path), file))
      if (!existsSync(join(root, wanted))) problems.push(`${path}: there is no ${target}`)
      const page = pageOf.get(wanted) ?? pageOf.get(join(wanted, "README.md"))
      if (page === undefined) return label
      if (anchor !== undefined && !hasAnchor(wanted, anchor))
        problems.push(`${path}: ${wanted} has no heading #${anchor}`)
      return `[${label}](${page}${anchor === undefined ? "" : `#${anchor}`})`
    }),
  )
  const drawn = linked
    .replaceAll(/src="(?:\.\.\/)*benchmarks\/plots\//g, 'src="/plots/')
    .replaceAll('src="concepts.svg"', 'src="/concepts.svg"')
  return outsideCode(drawn, (part) => part.replaceAll("{{", "{&#123;"))
}

/** Whether a page has a heading with this anchor, as GitHub and the site make them, which differ in some signs. */
function hasAnchor(path, anchor) {
  const file = existsSync(join(root, path, "README.md")) ? join(path, "README.md") : path
  if (!file.endsWith(".md")) return true
  const plain = (text) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")
  return [...readFileSync(join(root, file), "utf8").matchAll(/^#+ (.*?)(?: \{#.*\})?$/gm)].some(
    ([, heading]) => plain(heading) === plain(anchor.replace(/-\d+$/, "")) || plain(heading) === plain(anchor),
  )
}

/** Changes what is not in a code block. */
function outsideBlocks(text, change) {
  return text
    .split(/(^```[^]*?^```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("")
}

/** Changes what is neither in a code block nor in code within a line. */
function outsideCode(text, change) {
  return text
    .split(/(^```[^]*?^```$|`[^`\n]*`)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("")
}
