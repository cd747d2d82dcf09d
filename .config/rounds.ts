/** At most 500 of them on Bun and Deno: a deep run searches on Node, and its longest searches take ten minutes on each runtime. */
export function rounds(normal: number): number {
  const isNode = process.versions["bun"] === undefined && process.versions["deno"] === undefined
  return isNode ? normal : Math.min(normal, 500)
}
