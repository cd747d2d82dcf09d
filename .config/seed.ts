/**
 * Property tests take their seed from SEED, where that is set; fast-check chooses one otherwise, and prints it with a failure. Those without a number
 * of runs take FC_RUNS. fast-check is loaded only if one is set, because each test file would load it.
 */
const { SEED: seed, FC_RUNS: runs } = process.env
if (seed !== undefined || runs !== undefined) {
  const { configureGlobal } = await import("fast-check")
  configureGlobal({
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(runs !== undefined && { numRuns: Number(runs) }),
  })
}
