/* Types of the call button (docs/button.md). With the script loaded, `<earshot-call key="pk_...">` is an EarshotCallElement. */

export interface EarshotCallAttributes {
  /** The agent's publishable key. */
  key: string;
  /** The address of the service; where the script came from when left out. */
  host?: string;
  /** A fixed button at the page's lower edge, or one in the text. Default: inline; floating for the script tag. */
  mode?: 'floating' | 'inline';
  position?: 'right' | 'left';
  /** The button's text. */
  label?: string;
  /** The title of the panel; the agent's name when left out. */
  name?: string;
  /** The caller's name, as the agent and its webhooks see it. */
  caller?: string;
  /** Text that the caller agrees to by starting; "off" for none. */
  consent?: string;
  /** The call's language: a catalog id or iso code. */
  language?: string;
  /** Languages to choose from, separated by commas. */
  languages?: string;
  /** The call's variables, as a JSON object. `variable-NAME` attributes add to it. */
  variables?: string;
  /** A CSS colour. */
  accent?: string;
  theme?: 'light' | 'dark';
  /** The language of the texts: en or hi; the page's when left out. */
  lang?: string;
}

export interface EarshotStarted { callId: string }
export interface EarshotTranscript {
  callId: string;
  role: 'user' | 'assistant';
  text: string;
  /** false: the caller is still speaking, and a longer text with the same segment follows. */
  isFinal: boolean;
  segment: string;
}
export interface EarshotEnded {
  /** null: the start was called off before there was a call. */
  callId: string | null;
  /** Who ended it: the person, the agent (or its limit), or a connection that was lost. */
  reason: 'caller' | 'agent' | 'lost';
  seconds: number;
}
/** What kept the call from starting: a code of the API (`ORIGIN_NOT_ALLOWED`, `DAILY_LIMIT_REACHED`, ...), a DOMException's name
 * (`NotAllowedError`, ...), or `frame`, `insecure`, `connect`, `unreachable`. Within a call: `microphone`, it was taken away. */
export interface EarshotError { callId: string | null; code: string; message: string }

export interface EarshotCallElement extends HTMLElement {
  /** Opens the panel, or closes it. */
  open(): Promise<void>;
  /** Starts a call; what fails is told by `earshot:error`. */
  start(): Promise<void>;
  /** Ends the call, or calls its start off. */
  end(): Promise<void>;
}

declare global {
  interface HTMLElementTagNameMap { 'earshot-call': EarshotCallElement }
  interface HTMLElementEventMap {
    'earshot:started': CustomEvent<EarshotStarted>;
    'earshot:transcript': CustomEvent<EarshotTranscript>;
    'earshot:ended': CustomEvent<EarshotEnded>;
    'earshot:error': CustomEvent<EarshotError>;
  }
}
