/* What a new agent can begin as. The texts are the agents' own, in the language of the studio. */
import { t } from './text.js';

const NAMES = ['frontDesk', 'booking', 'orders', 'survey', 'blank'];

const SETTINGS = {
  frontDesk: { systemTools: { endCall: true } },
  booking: { systemTools: { endCall: true }, variables: { caller_name: { defaultValue: '', description: '' } } },
  orders: { systemTools: { endCall: true }, variables: { order_id: { defaultValue: '', description: '' } } },
  survey: { systemTools: { endCall: true } },
  blank: {},
};

export const templates = () => NAMES.map((name) => ({ name, title: t(`template.${name}`), about: t(`template.${name}.about`) }));

/* The body of Create an agent. */
export function fromTemplate(name, agentName) {
  const own = name === 'blank' ? {} : { systemInstruction: t(`template.${name}.instruction`), greetingMode: 'static', greetingText: t(`template.${name}.greeting`) };
  return { name: agentName, ...own, ...SETTINGS[name] };
}
