/**
 * Part of the room between what is sent beside the messages and the limit at which the session is due. A compaction that ended just below
 * the limit would be due again a few messages later: with three quarters a third less is paid in simulated sessions.
 */
export const AIM_SHARE = 0.75
