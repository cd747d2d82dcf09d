/** In the order of the report. */
export const groups = [
  "append",
  "replay",
  "resume",
  "list",
  "checkpoints",
  "search",
  "history",
  "stalls",
  "compaction",
  "formats",
  "growth",
  "curves",
  "peers",
  "s3",
  "sqlite",
  "postgres",
  "browser",
]
export const engines = ["chromium", "firefox", "webkit"]
export const runtimes = ["node", "bun", "deno"]

/** The groups that a full run also measures on Bun and Deno. */
const everywhere = ["append", "replay"]

/**
 * The runs for the given groups and runtime (or browser engine): `[{ runtime, groups, engine }]`, or an error message. Without groups all
 * run on Node, which drives the browser; without a runtime too, those of {@link everywhere} also run on the others.
 */
export function planOf(wanted, where) {
  const unknown = wanted.filter((name) => !groups.includes(name))
  if (unknown.length > 0) return `there is no ${unknown.join(", ")}; choose from ${groups.join(", ")}`
  if (engines.includes(where)) {
    if (wanted.some((name) => name !== "browser")) return `${where} runs the group browser and no other`
    return [{ runtime: "node", groups: ["browser"], engine: where }]
  }
  if (where !== undefined && !runtimes.includes(where)) {
    return `there is no runtime ${where}; choose from ${[...runtimes, ...engines].join(", ")}`
  }
  const engine = engines[0]
  if (where === undefined || where === "node") {
    const others = wanted.length === 0 && where === undefined ? runtimes.slice(1) : []
    return [
      { runtime: "node", groups: wanted.length > 0 ? wanted : groups, engine },
      ...others.map((runtime) => ({ runtime, groups: everywhere, engine })),
    ]
  }
  if (wanted.includes("browser")) return `the group browser runs in ${engines.join(", ")}, not in ${where}`
  return [{ runtime: where, groups: wanted.length > 0 ? wanted : groups.filter((name) => name !== "browser"), engine }]
}
