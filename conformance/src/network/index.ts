/** What happens between an adapter and a store that it calls over HTTP, and random schedules of it. */
export { type Answer, answerNames, answers, type Way } from "./answers.ts"
export { createNetwork, type Fetch, type Network } from "./network.ts"
export { registerSchedules, runSchedule, type ScheduleOptions } from "./schedules.ts"
