import { rounds } from "./rounds.ts"

/** How often a property is tried: `normal` times, on Bun and Deno at most 500, or FC_RUNS, as in the step `laws` of `npm run test:deep`. */
export function runs(normal: number): number {
  return Number(process.env["FC_RUNS"] ?? rounds(normal))
}
