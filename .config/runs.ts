/** How often a property is tried: `normal` times, or FC_RUNS, as in the step `laws` of `npm run test:deep`. */
export function runs(normal: number): number {
  return Number(process.env["FC_RUNS"] ?? normal)
}
