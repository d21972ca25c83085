/* What does not come in the studio's one file: whose session it is is asked beside it, the rest comes when a page needs it. */
export { asked } from './session.js';
export const loadPlot = async () => (await import('./uplot.js')).default;
export const loadLivekit = async () => (await import('./livekit-client.js')).default;
