import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, posix } from "node:path"
import { publishable, root } from "./workspace.mjs"

/** The pages of `docs/` by half and group, with their names in the sidebar of the site. README.md lists the same ones. */
export const HALVES = {
  "Use it": {
    "Begin here": {
      "getting-started": "Getting started",
      concepts: "Concepts",
      storages: "Which storage",
      recipes: "Recipes",
      platforms: "Runtimes and frameworks",
      faq: "Questions",
    },
    Agents: {
      providers: "Model providers",
      "ai-sdk": "AI SDK",
      langgraph: "LangGraph",
      "openai-agents": "OpenAI Agents",
      "claude-agent": "Claude Agent SDK",
      "tool-calls": "Tool calls",
    },
    Operation: {
      production: "In production",
      serverless: "Serverless",
      migration: "Migration",
    },
  },
  "How it works": {
    Reference: {
      errors: "Errors",
      events: "Events and hooks",
      options: "Options and limits",
      http: "Over the network",
      "provider-rules": "What providers take",
      format: "Format of a log",
      formats: "Formats of other agents",
      contract: "Contract of a storage",
    },
    Conversations: {
      context: "Context",
      compaction: "Compaction",
      "prompt-caching": "Prompt caching",
      merge: "Merging",
      checkpoints: "Checkpoints",
      search: "Search",
      history: "Prompt history",
      recall: "Long-term memory",
      inspector: "Inspector",
    },
    Storages: {
      adapters: "Adapters",
      postgres: "PostgreSQL",
      s3: "Stores for S3",
      retention: "Retention",
      "writing-an-adapter": "Writing an adapter",
    },
    Project: {
      architecture: "Architecture",
      bridges: "Bridges",
      comparison: "Comparison",
      "track-record": "Track record",
    },
  },
}

/** The names of the pages of a half, in order. */
export function pagesOf(half) {
  return Object.values(HALVES[half]).flatMap((group) => Object.keys(group))
}

/** The pages of `docs/` for users, in the order of reading. `llms-full.txt` and the package of core have them in full. */
export const USERS = [
  "getting-started",
  "concepts",
  "storages",
  "recipes",
  "errors",
  "events",
  "options",
  "faq",
  "comparison",
  "migration",
]

/** The pages that each package has in its folder `docs`, where whoever uses it finds them without a network. */
export const PACKED = {
  "@sessions/core": [...USERS, "compaction", "merge", "retention"],
  "@sessions/ai-sdk": ["ai-sdk"],
  "@sessions/checkpoints": ["checkpoints"],
  "@sessions/claude-agent": ["claude-agent"],
  "@sessions/conformance": ["writing-an-adapter", "contract"],
  "@sessions/formats": ["formats"],
  "@sessions/fs": ["adapters"],
  "@sessions/history": ["history"],
  "@sessions/http": ["http"],
  "@sessions/idb": ["adapters"],
  "@sessions/inspector": ["inspector"],
  "@sessions/langgraph": ["langgraph"],
  "@sessions/openai-agents": ["openai-agents"],
  "@sessions/postgres": ["adapters", "postgres"],
  "@sessions/providers": ["providers", "provider-rules"],
  "@sessions/recall": ["recall"],
  "@sessions/s3": ["adapters", "serverless", "s3"],
  "@sessions/schema": ["format"],
  "@sessions/search": ["search"],
  "@sessions/sqlite": ["adapters"],
  "@sessions/tool-calls": ["tool-calls"],
}

/** Writes the pages into the folders of the packages. */
export function writePackedPages() {
  for (const { dir, manifest } of publishable()) {
    const names = PACKED[manifest.name] ?? []
    const folder = join(dir, "docs")
    rmSync(folder, { recursive: true, force: true })
    if (names.length > 0) mkdirSync(folder)
    for (const name of names)
      writeFileSync(
        join(folder, `${name}.md`),
        packedPage(readFileSync(join(root, "docs", `${name}.md`), "utf8"), names),
      )
  }
}

/** A page without what is not beside it in the package: a link becomes its text, which says where an example is, and a picture its description. */
export function packedPage(text, names) {
  return text
    .replaceAll(/<img [^>]*alt="([^"]*)"[^>]*>/g, "$1")
    .replaceAll(/\[([^\]]*)\]\((?!#|https?:)([^)#]*)[^)]*\)/g, (link, shown, target) =>
      names.some((name) => target === `${name}.md`)
        ? link
        : shown + (target.startsWith("../examples/") ? " (in the repository)" : ""),
    )
}

const CODE = /^(```+)[^]*?^\1|(`+)[^]*?\2/gm
const TARGET = /\]\(\s*<?([^\s)>]+)|^\[[^\]]+\]:\s*(\S+)|<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]*)"/gm

/** The links of a text of a package that lead to no file of it: on a page of a registry, and in `node_modules`, nothing is there. */
export function linksOutOf(files, path, text) {
  return Array.from(text.replaceAll(CODE, "").matchAll(TARGET), (match) => match.slice(1).find(Boolean))
    .filter((target) => target !== undefined && !/^(#|[a-z][a-z+.-]*:)/i.test(target))
    .filter((target) => !files.includes(posix.join(posix.dirname(path), target.replace(/[?#].*/, ""))))
}
